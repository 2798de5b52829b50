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

  /** The domain, as a virtual host names it, by which one is found; empty where none is. */
  domainOf(authority: string): string {
    const name = this.#nameOf(authority);
    if (this.#exact.has(name)) return name;
    const suffix = this.#suffixes.partOf(name);
    if (suffix !== undefined) return `*${suffix}`;
    const prefix = this.#prefixes.partOf(name);
    if (prefix !== undefined) return `${prefix}*`;
    return this.#any === undefined ? '' : '*';
  }

  #nameOf(authority: string): string {
    const name = asciiLower(authority);
    return this.#ignorePort ? withoutPort(name) : name;
  }

  find(authority: string): Host | undefined {
    if (this.#exact.size === 0 && this.#suffixes.isEmpty && this.#prefixes.isEmpty)
      return this.#any;
    const name = this.#nameOf(authority);
    return (
      this.#exact.get(name) ?? this.#suffixes.find(name) ?? this.#prefixes.find(name) ?? this.#any
    );
  }
}

/** Hosts by the fixed part of a wildcard, grouped by its length, the longest first. */
class WildcardIndex<Host> {
  readonly #byLength = new Map<number, Map<string, Host>>();
  readonly #cut: (authority: string, length: number) => string;
  /** Undefined: not sorted since a part was added. */
  #lengths: readonly number[] | undefined;

  constructor(cut: (authority: string, length: number) => string) {
    this.#cut = cut;
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
    const part = this.partOf(authority);
    return part === undefined ? undefined : this.#byLength.get(part.length)?.get(part);
  }

  /** The longest fixed part that fits. */
  partOf(authority: string): string | undefined {
    this.#lengths ??= [...this.#byLength.keys()].sort((a, b) => b - a);
    for (const length of this.#lengths) {
      // The wildcard stands for at least one character.
      if (length >= authority.length) continue;
      const part = this.#cut(authority, length);
      if (this.#byLength.get(length)?.has(part) === true) return part;
    }
    return undefined;
  }
}

function withoutPort(authority: string): string {
  const colon = authority.lastIndexOf(':');
  return colon < 0 || authority.lastIndexOf(']') > colon ? authority : authority.slice(0, colon);
}
