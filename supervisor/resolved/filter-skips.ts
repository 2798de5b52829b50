/**
 * What `--unsupported-filters` says: which filters that Sluice does not have are left out of a
 * configuration instead of refusing it. A filter that decides who may pass is never left out.
 */

/**
 * Filters of Envoy and Istio that are missing here and whose absence changes neither who may pass,
 * nor what a host or another filter sees.
 */
const HARMLESS: ReadonlySet<string> = new Set([
  'envoy.extensions.filters.http.file_system_buffer.v3.FileSystemBufferFilterConfig',
  'envoy.extensions.filters.network.mongo_proxy.v3.MongoProxy',
  'envoy.extensions.filters.network.zookeeper_proxy.v3.ZooKeeperProxy',
  'stats.PluginConfig',
]);

/** In a type or a name: access, identity and protection. */
const GUARDS =
  /auth|rbac|jwt|oidc|oauth|saml|csrf|cors|\bacl|waf|\bopa\b|coraza|quota|limit|credential|token|api_?key|allow|deny|block|firewall|security|scrub|ext_?proc|admission|mcp|validat/i;

/** Texts that were told; what a control plane names beyond these is counted alone. */
const MAX_TOLD = 1_000;

export interface NamedFilter {
  /** The name that the configuration gives it. */
  readonly name: string;
  /** Full name of its message. */
  readonly type: string;
}

/** Whether a word on the command line, or a filter's name or type, is one of access. */
export function isGuard(word: string): boolean {
  return GUARDS.test(word);
}

export class FilterSkips {
  readonly #listed: ReadonlySet<string> | undefined;
  readonly #told = new Set<string>();
  #count = 0;
  #onCount: (count: number) => void = () => undefined;

  /** `listed` are names and types beside the harmless ones; undefined: nothing is left out. */
  constructor(listed: readonly string[] | undefined) {
    this.#listed = listed && new Set(listed);
  }

  get isOn(): boolean {
    return this.#listed !== undefined;
  }

  /** Whether a filter that Sluice does not have may be left out. */
  allows({ name, type }: NamedFilter): boolean {
    if (this.#listed === undefined || isGuard(name) || isGuard(type)) return false;
    return HARMLESS.has(type) || this.#listed.has(type) || this.#listed.has(name);
  }

  /** Counts a filter that was left out; true where that was not told before. */
  note(text: string): boolean {
    this.#count++;
    this.#onCount(1);
    if (this.#told.has(text) || this.#told.size >= MAX_TOLD) return false;
    this.#told.add(text);
    return true;
  }

  /** Tells what was counted before, and each one from now on. */
  countInto(add: (count: number) => void): void {
    if (this.#count > 0) add(this.#count);
    this.#onCount = add;
  }
}
