// Runs before the first paint, so that the chosen theme applies at once. It is a file, because inline scripts are forbidden.
try {
  const { base } = document.documentElement.dataset;
  const read = (name) => localStorage.getItem(base ? `${base}:${name}` : name);
  const theme = read('theme');
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
  const time = read('time');
  if (time) document.documentElement.dataset.time = time;
} catch {
  // Storage may be forbidden; then the theme of the system is used.
}
