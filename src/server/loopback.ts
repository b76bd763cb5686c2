/** Whether this is an address that only this machine can reach. */
export function isLoopbackAddress(address: string): boolean {
  return address === '::1' || /^(?:::ffff:)?127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(address)
}

/** The same for the value of a `Host` header: a name or an address, optionally with a port. */
export function isLoopbackHost(host: string): boolean {
  const url = `http://${host}`
  // A path or a user would be a part of the URL, but is not one of a host.
  return !/[/?#@\\\s]/.test(host) && URL.canParse(url) && isLoopbackName(new URL(url).hostname)
}

/** The same for a name or an address as it is written in URLs and options. */
export function isLoopbackName(name: string): boolean {
  return name === 'localhost' || name.endsWith('.localhost') || isLoopbackAddress(name.replace(/^\[(.*)\]$/, '$1'))
}
