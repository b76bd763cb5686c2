/** The roles of tokens. Each role includes the ones before it. */
export const roles = ['read', 'work', 'operate', 'admin'] as const

export type Role = (typeof roles)[number]

export function isRole(value: unknown): value is Role {
  return roles.some((role) => role === value)
}

export function includes(role: Role, needed: Role): boolean {
  return roles.indexOf(role) >= roles.indexOf(needed)
}
