// All of the integration: copy this file into your app.
import { type DynamicModule, Injectable, Module, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common'
import { DiscoveryModule, DiscoveryService, MetadataScanner } from '@nestjs/core'
import { type JobBuilder, type JobContext, Treadle, type TreadleOptions, treadle } from 'treadle'

export interface TreadleModuleOptions extends TreadleOptions {
  /** Where the queue is: sqlite:jobs.db, postgres://… */
  readonly url: string
}

/** Makes a method of a provider the handler of a job. `settings` says the rest: `(job) => job.retries(5).dailyAt('08:00')`. */
export function JobHandler(name: string, settings: JobSettings = (job) => job): MethodDecorator {
  return (_target, _method, descriptor) => {
    Reflect.defineMetadata(metadataKey, { name, settings }, descriptor.value as object)
  }
}

/** Gives a `Treadle` to all modules, with the jobs of all providers. */
@Module({})
export class TreadleModule {
  static forRoot({ url, ...options }: TreadleModuleOptions): DynamicModule {
    const instance = { provide: Treadle, useFactory: () => treadle(url, options) }
    return {
      module: TreadleModule,
      global: true,
      imports: [DiscoveryModule],
      providers: [instance, JobExplorer],
      exports: [Treadle],
    }
  }
}

/** Defines what is decorated when the app starts, and closes the queue after the last request and job. */
@Injectable()
export class JobExplorer implements OnModuleInit, OnApplicationShutdown {
  constructor(
    private readonly jobs: Treadle,
    private readonly discovery: DiscoveryService,
    private readonly scanner: MetadataScanner,
  ) {}

  onModuleInit(): void {
    for (const { instance } of this.discovery.getProviders()) {
      if (typeof instance !== 'object' || instance === null) continue
      for (const method of this.scanner.getAllMethodNames(Object.getPrototypeOf(instance))) this.define(instance, method)
    }
  }

  async onApplicationShutdown(): Promise<void> {
    await this.jobs.stop()
    await this.jobs.close()
  }

  private define(instance: Record<string, unknown>, method: string): void {
    const handler = instance[method]
    if (typeof handler !== 'function') return
    const found: { name: string; settings: JobSettings } | undefined = Reflect.getMetadata(metadataKey, handler)
    if (found === undefined) return
    found.settings(this.jobs.define(found.name, (payload: unknown, ctx: JobContext) => handler.call(instance, payload, ctx)))
  }
}

type JobSettings = (job: JobBuilder) => unknown

const metadataKey = Symbol('treadle job')
