import { reactRouter } from '@react-router/dev/vite'
import { defineConfig } from 'vite'

// Packages stay outside of the server's bundle, which is the default and what Treadle needs.
export default defineConfig({ plugins: [reactRouter()] })
