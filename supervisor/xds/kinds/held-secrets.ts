/**
 * Secrets that a resource names for its filters: they are asked for while the version that names
 * them is in force, and those that the next one names too stay.
 */
import type { NamedSecret } from '../../resolved/named-secret.ts';
import type { ResourceUse } from '../../store/resource-use.ts';
import type { NamedResources } from './named-resources.ts';

export class HeldSecrets {
  readonly #secrets: Pick<NamedResources<NamedSecret>, 'use'>;
  #held: readonly ResourceUse[] = [];

  constructor(secrets: Pick<NamedResources<NamedSecret>, 'use'>) {
    this.#secrets = secrets;
  }

  hold(named: readonly NamedSecret[]): void {
    const before = this.#held;
    this.#held = named.map((each) => this.#secrets.use(each));
    for (const each of before) each.release();
  }

  release(): void {
    this.hold([]);
  }
}
