/** Replaces what differs from run to run, and the product's own name, by tokens. */

/** Ports and their names. */
export type Names = ReadonlyMap<string, string>;

const RULES: readonly (readonly [RegExp, string])[] = [
  [/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, '<uuid>'],
  [/\b(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT/g, '<date>'],
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, '<time>'],
  [/(x-envoy-upstream-service-time"?: "?)\d+/g, '$1<ms>'],
  [/^(server|via): sluice$/gm, '$1: envoy'],
  [/\bSluice\b/g, 'Envoy'],
];

export function normalise(lines: readonly string[], names: Names): string[] {
  return lines.map((line) => {
    let text = line;
    for (const [port, name] of names) {
      text = text.replace(new RegExp(`(?<![0-9])${port}(?![0-9])`, 'g'), name);
    }
    for (const [pattern, token] of RULES) text = text.replace(pattern, token);
    return text;
  });
}
