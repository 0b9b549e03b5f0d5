// Runs before the first paint, so that a chosen theme does not flash. A file of its own: the page allows no inline script.
try {
  const theme = localStorage.getItem('theme');
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
  document.documentElement.dataset.density = localStorage.getItem('density') === 'roomy' ? 'roomy' : 'compact';
  const time = localStorage.getItem('time');
  if (time) document.documentElement.dataset.time = time;
} catch {
  // Storage may be forbidden; the system's theme is then used.
}
