/** Of the package. Written here as well, since a bundled program has no package file to look into; a test compares the two. */
export const version = '0.1.0'
