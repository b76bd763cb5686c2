// Runs before the first paint, so that no page flashes in the other theme.
const chosen = localStorage.getItem('treadle-theme')
if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset.theme = chosen
