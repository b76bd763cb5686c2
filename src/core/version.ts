/** The package version. Repeated here because a bundled program has no package file to read; a test compares the two. */
export const version = '0.1.0'
