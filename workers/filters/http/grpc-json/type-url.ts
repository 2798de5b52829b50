/** Names of types in google.protobuf.Any, as Envoy takes them. */

const PREFIX = 'type.googleapis.com/';

/** Undefined for a URL of any other form. */
export function typeNameOf(url: string): string | undefined {
  return url.startsWith(PREFIX) ? url.slice(PREFIX.length) : undefined;
}

/** What such a URL is answered with. */
export function wrongUrl(url: string): string {
  return `Invalid type URL, type URLs must be of the form '${PREFIX}<typename>', got: ${url}`;
}
