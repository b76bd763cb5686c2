/** Where to draw the nodes of an acyclic graph: layers from left to right, each ordered to have few crossings. */
export interface Layout {
  /** One for each node. */
  readonly places: readonly { readonly layer: number; readonly row: number }[]
  readonly layers: number
  readonly rows: number
  /** One for each edge: the rows that its line passes in the layers between its ends. */
  readonly bends: readonly (readonly { readonly layer: number; readonly row: number }[])[]
}

interface Spot {
  /** Null for a bend of a line. */
  readonly node: number | null
  readonly edge: number | null
  order: number
}

const sweeps = 4

export function layoutOf(nodes: number, edges: readonly (readonly [from: number, to: number])[]): Layout {
  const layerOf = longestPaths(nodes, edges)
  const layers: Spot[][] = Array.from({ length: Math.max(1, ...layerOf.map((layer) => layer + 1)) }, () => [])
  const spots = layerOf.map((layer, node) => added(layers, layer, { node, edge: null, order: 0 }))
  const before = new Map<Spot, Spot[]>()
  const after = new Map<Spot, Spot[]>()
  const chains = edges.map(([from, to], edge) => {
    const bends: Spot[] = []
    for (let layer = (layerOf[from] ?? 0) + 1; layer < (layerOf[to] ?? 0); layer++)
      bends.push(added(layers, layer, { node: null, edge, order: 0 }))
    const chain = [spots[from] as Spot, ...bends, spots[to] as Spot]
    for (let at = 1; at < chain.length; at++) {
      join(after, chain[at - 1] as Spot, chain[at] as Spot)
      join(before, chain[at] as Spot, chain[at - 1] as Spot)
    }
    return bends
  })
  for (const layer of layers) number(layer)
  for (let sweep = 0; sweep < sweeps; sweep++) {
    for (const layer of layers) sort(layer, before)
    for (const layer of layers.toReversed()) sort(layer, after)
  }
  const rows = Math.max(1, ...layers.map(({ length }) => length))
  const rowOf = (layer: number, { order }: Spot) => order + (rows - (layers[layer]?.length ?? 0)) / 2
  return {
    places: spots.map((spot, node) => ({ layer: layerOf[node] ?? 0, row: rowOf(layerOf[node] ?? 0, spot) })),
    layers: layers.length,
    rows,
    bends: chains.map((bends, edge) =>
      bends.map((spot, at) => ({
        layer: (layerOf[edges[edge]?.[0] ?? 0] ?? 0) + 1 + at,
        row: rowOf((layerOf[edges[edge]?.[0] ?? 0] ?? 0) + 1 + at, spot),
      })),
    ),
  }
}

/**
 * Places each node after all nodes that it waits for. A circular reference, which should not exist, is cut where it
 * closes.
 */
function longestPaths(nodes: number, edges: readonly (readonly [number, number])[]): readonly number[] {
  const waits = Array.from({ length: nodes }, () => 0)
  const next = Array.from({ length: nodes }, () => [] as number[])
  for (const [from, to] of edges) {
    next[from]?.push(to)
    waits[to] = (waits[to] ?? 0) + 1
  }
  const layers = Array.from({ length: nodes }, () => 0)
  const open = waits.flatMap((count, node) => (count === 0 ? [node] : []))
  for (let node = open.shift(); node !== undefined; node = open.shift()) {
    for (const following of next[node] ?? []) {
      layers[following] = Math.max(layers[following] ?? 0, (layers[node] ?? 0) + 1)
      waits[following] = (waits[following] ?? 1) - 1
      if (waits[following] === 0) open.push(following)
    }
  }
  return layers
}

function added(layers: Spot[][], layer: number, spot: Spot): Spot {
  layers[layer]?.push(spot)
  return spot
}

function join(neighbours: Map<Spot, Spot[]>, from: Spot, to: Spot): void {
  neighbours.set(from, [...(neighbours.get(from) ?? []), to])
}

function number(layer: readonly Spot[]): void {
  for (const [order, spot] of layer.entries()) spot.order = order
}

function sort(layer: Spot[], neighbours: ReadonlyMap<Spot, readonly Spot[]>): void {
  const middle = (spot: Spot) => {
    const others = neighbours.get(spot) ?? []
    return others.length === 0 ? spot.order : others.reduce((sum, { order }) => sum + order, 0) / others.length
  }
  const middles = new Map(layer.map((spot) => [spot, middle(spot)]))
  layer.sort((a, b) => (middles.get(a) ?? 0) - (middles.get(b) ?? 0) || a.order - b.order)
  number(layer)
}
