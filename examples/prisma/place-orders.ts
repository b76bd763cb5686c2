import { PrismaPg } from '@prisma/adapter-pg'
import { PrismaClient } from './generated/client.ts'
import { confirmOrder, jobs } from './jobs.ts'

await jobs.open()
const prisma = new PrismaClient({ adapter: new PrismaPg({ connectionString: process.env.DATABASE_URL }) })
// In an app of yours, a migration creates the table.
await prisma.$executeRaw`CREATE TABLE IF NOT EXISTS orders (id integer PRIMARY KEY)`

function placeOrder(id: number, isPaid: boolean) {
  return prisma.$transaction(async (tx) => {
    await tx.order.create({ data: { id } })
    await confirmOrder.in(tx).dispatch({ id })
    if (!isPaid) throw new Error(`order ${id} is not paid`)
  })
}

await placeOrder(1, true)
await placeOrder(2, false).catch((thrown) => console.log(thrown.message)) // no order, and no job
console.log(`${await prisma.order.count()} order`)
await prisma.$disconnect()

const { succeeded } = await jobs.run() // in an app of yours, a worker does
console.log(`${succeeded} succeeded`)
await jobs.close()
