/** `type.googleapis.com/a.b.C` without what stands before the last slash. */
export function typeNameOf(url: string): string {
  return url.slice(url.lastIndexOf('/') + 1);
}
