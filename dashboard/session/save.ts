/** Saves texts, one after another, as a file. */
export function save(name: string, type: string, texts: readonly string[]): void {
  const address = URL.createObjectURL(new Blob([...texts], { type }));
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
