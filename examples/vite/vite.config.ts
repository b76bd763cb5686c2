import { defineConfig } from 'vite'

export default defineConfig({
  // A bundle for Node. Packages stay outside of it, which Treadle needs: it starts threads by the paths of its own files.
  build: { ssr: 'server.ts', target: 'node20' },
})
