/** Query strings as lists of parameters, taken apart and put together again as Envoy does. */

type Parameter = readonly [name: string, value: string];

/** Of a path; an absent value is empty. Nothing is decoded. */
function parseQuery(path: string): Parameter[] {
  const mark = path.indexOf('?');
  return mark < 0 ? [] : parseParameters(path.slice(mark + 1));
}

/** Of a query or a form. */
function parseParameters(text: string): Parameter[] {
  if (text === '') return [];
  return text.split('&').map((part) => {
    const equals = part.indexOf('=');
    return equals < 0 ? [part, ''] : [part.slice(0, equals), part.slice(equals + 1)];
  });
}

/** The first value of a parameter, both decoded; undefined when it is missing. */
export function decodedQueryValue(path: string, name: string): string | undefined {
  for (const [given, value] of parseQuery(path)) {
    if (percentDecode(given) === name) return percentDecode(value);
  }
  return undefined;
}

/** The path without a parameter; the others are in the order of their names. */
export function withoutParameter(path: string, name: string): string {
  const mark = path.indexOf('?');
  if (mark < 0) return path;
  return withParameters(
    path,
    parseQuery(path).filter(([given]) => given !== name),
  );
}

/** The path with these parameters alone, in the order of their names. */
function withParameters(path: string, parameters: readonly Parameter[]): string {
  const mark = path.indexOf('?');
  const bare = mark < 0 ? path : path.slice(0, mark);
  if (parameters.length === 0) return bare;
  const sorted = parameters.toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  return `${bare}?${sorted.map(([name, value]) => `${name}=${value}`).join('&')}`;
}

const ESCAPE = /%([\da-fA-F]{2})/g;

/** One character per byte; what is no escape stays. */
function percentDecode(text: string): string {
  if (!text.includes('%')) return text;
  return text.replace(ESCAPE, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}
