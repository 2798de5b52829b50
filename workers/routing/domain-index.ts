/**
 * Finds the virtual host of a request by its authority: the exact domain, else the longest
 * `*.suffix`, else the longest `prefix.*`, else `*`. Case never matters; a port counts as part of
 * the domain unless ports are ignored.
 */
import { asciiLower } from '../../shared/text/ascii.ts';

export class DomainIndex<Host> {
  readonly #exact = new Map<string, Host>();
  readonly #suffixes = new WildcardIndex<Host>((authority, length) => authority.slice(-length));
  readonly #prefixes = new WildcardIndex<Host>((authority, length) => authority.slice(0, length));
  readonly #ignorePort: boolean;
  #any: Host | undefined = undefined;

  constructor(ignorePort: boolean) {
    this.#ignorePort = ignorePort;
  }

  /** The first virtual host that names a domain keeps it; the supervisor refuses duplicates. */
  add(domain: string, host: Host): void {
    const name = asciiLower(domain);
    if (name === '*') this.#any ??= host;
    else if (name.startsWith('*')) this.#suffixes.add(name.slice(1), host);
    else if (name.endsWith('*')) this.#prefixes.add(name.slice(0, -1), host);
    else if (!this.#exact.has(name)) this.#exact.set(name, host);
  }

  find(authority: string): Host | undefined {
    if (this.#exact.size === 0 && this.#suffixes.isEmpty && this.#prefixes.isEmpty)
      return this.#any;
    let name = asciiLower(authority);
    if (this.#ignorePort) name = withoutPort(name);
    return (
      this.#exact.get(name) ?? this.#suffixes.find(name) ?? this.#prefixes.find(name) ?? this.#any
    );
  }
}

/** Hosts by the fixed part of a wildcard, grouped by its length, the longest first. */
class WildcardIndex<Host> {
  readonly #byLength = new Map<number, Map<string, Host>>();
  readonly #partOf: (authority: string, length: number) => string;
  /** Undefined: not sorted since a part was added. */
  #lengths: readonly number[] | undefined;

  constructor(partOf: (authority: string, length: number) => string) {
    this.#partOf = partOf;
  }

  get isEmpty(): boolean {
    return this.#byLength.size === 0;
  }

  add(part: string, host: Host): void {
    const group = this.#byLength.get(part.length) ?? new Map<string, Host>();
    if (!group.has(part)) group.set(part, host);
    this.#byLength.set(part.length, group);
    this.#lengths = undefined;
  }

  find(authority: string): Host | undefined {
    this.#lengths ??= [...this.#byLength.keys()].sort((a, b) => b - a);
    for (const length of this.#lengths) {
      // The wildcard stands for at least one character.
      if (length >= authority.length) continue;
      const host = this.#byLength.get(length)?.get(this.#partOf(authority, length));
      if (host !== undefined) return host;
    }
    return undefined;
  }
}

function withoutPort(authority: string): string {
  const colon = authority.lastIndexOf(':');
  return colon < 0 || authority.lastIndexOf(']') > colon ? authority : authority.slice(0, colon);
}
