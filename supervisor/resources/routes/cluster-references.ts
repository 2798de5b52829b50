/** Checks that the clusters which routes name are there, where the configuration asks for it. */
import { meantCluster } from '../meant-name.ts';
import type { Scope } from '../scope.ts';

export class ClusterReferences {
  readonly #isKnown: ((name: string) => boolean) | undefined;

  /** Without a predicate nothing is checked. */
  constructor(isKnown: ((name: string) => boolean) | undefined) {
    this.#isKnown = isKnown;
  }

  /** `message` is Envoy's, without the name. */
  check(name: string, message: string, scope: Scope): void {
    if (this.#isKnown === undefined || this.#isKnown(name)) return;
    scope.error('reference', `${message} '${name}'`, meantCluster(name, scope));
  }
}
