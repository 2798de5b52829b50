/** How names that users give stand in the names of statistics. */

/** Colons, which would look like the end of a name to readers, become underscores; `://` becomes one. */
export function statScope(name: string): string {
  return name.replaceAll(/:\/{0,2}|\0/g, '_');
}
