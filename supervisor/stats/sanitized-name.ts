/** Colons would look like the end of a name to readers of statistics. */
export function sanitizedName(name: string): string {
  return name.replaceAll(/:\/{0,2}|\0/g, '_');
}
