// Before anything is painted: the theme that was chosen here; the system's otherwise.
try {
  const chosen = localStorage.getItem('treadle-theme')
  if (chosen === 'dark' || chosen === 'light') document.documentElement.dataset.theme = chosen
} catch {
  // A browser that keeps nothing for files: the system's theme it is.
}
