/**
 * What is lost with an extension that Sluice does not serve, and the nearest way out: for the hint
 * of a refusal.
 */

const ADVICE: readonly (readonly [type: RegExp, advice: string])[] = [
  [
    /quic|http3|alternate_protocols_cache|HTTP3/i,
    'Node.js has no QUIC: leave HTTP/3 out, clients that offer it speak HTTP/2 as well',
  ],
  [
    /dynamic_modules/,
    'it loads native code that was built for Envoy; docs/extending.md says how to write it in TypeScript',
  ],
  [/wasm/i, 'there is no runtime for WebAssembly filters; docs/extending.md says how to write one'],
  [/\.alts\.|googledefault/i, "it needs the services of Google's cloud"],
];

/** `type` is the full name of the message. Undefined: there is no way out to tell. */
export function adviceForRefusal(type: string): string | undefined {
  return ADVICE.find(([pattern]) => pattern.test(type))?.[1];
}
