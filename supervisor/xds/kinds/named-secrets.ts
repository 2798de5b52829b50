/**
 * Secrets that TLS contexts name instead of holding them. A secret whose files are replaced is read
 * again; one that cannot be used leaves what was there.
 */
import { scopePrefix } from '../../../shared/stats/stat-scope.ts';
import type { JsonObject } from '../../../shared/api/well-known.ts';
import { RESOURCE_TYPES } from '../../resolved/resource-kinds.ts';
import { LoopTurns } from '../../loop/loop-turns.ts';
import type { DiscoveredSecret, NamedSecret } from '../../resolved/named-secret.ts';
import { DiscoveryStats } from '../subscriptions/discovery-stats.ts';
import type { DiscoveredResource, DiscoveryUpdate } from '../subscriptions/discovery-update.ts';
import type { Definition } from '../../stats/stat-store.ts';
import { AwsCredentials } from './aws-credentials.ts';
import { NamedResources, SharedResource } from './named-resources.ts';
import type { NamedOptions } from './discovery-options.ts';
import { isSameMessage } from './same-message.ts';
import { DirectoryWatch, directoriesOf, readSecretFiles } from './secret-files.ts';
import { WatchedTags } from './watched-tags.ts';

const { workers: WORKERS } = RESOURCE_TYPES.secret;

export interface SecretDiscoveryOptions extends NamedOptions {
  /** The secret of this key is another one now. */
  changed(key: string): void;
  readonly log: (level: 'warning', text: string) => void;
}

export function discoverSecrets(options: SecretDiscoveryOptions): NamedResources<NamedSecret> {
  const turns = new LoopTurns(options.clock);
  return new NamedResources({
    open: (secret) => {
      if ('source' in secret) return new SharedSecret(secret, { ...options, turns });
      if ('tags' in secret) return new WatchedTags(secret, options);
      return new AwsCredentials(secret, options);
    },
    target: ({ name }) => `shared target SdsApi ${name}`,
  });
}

type Given = Pick<DiscoveredResource, 'message' | 'versionInfo'>;

interface SharedSecretOptions extends SecretDiscoveryOptions {
  /** In which secrets are loaded. */
  readonly turns: LoopTurns;
}

class SharedSecret extends SharedResource {
  readonly #secret: DiscoveredSecret;
  readonly #options: SharedSecretOptions;
  readonly #rotationFailures: Definition;
  /** As its source gave it, its files unread. */
  #given: Given | undefined;
  #watch: DirectoryWatch | undefined;
  /** Loads follow one another. */
  #loading: Promise<string | undefined> = Promise.resolve(undefined);
  /** Moves that come together are looked at once. */
  #isRereadPlanned = false;

  constructor(secret: DiscoveredSecret, options: SharedSecretOptions) {
    super();
    this.#secret = secret;
    this.#options = options;
    const { store, statStore, sources, clock } = options;
    const prefix = scopePrefix(`sds.${secret.name}.`);
    this.#rotationFailures = statStore.holdNamed('counter', `${prefix}key_rotation_failed`);
    store.putWarming('secret', secret.key, {
      message: { name: secret.name },
      versionInfo: 'uninitialized',
      lastUpdatedMs: clock.wallMs(),
      resolved: undefined,
    });
    this.subscribe((interest) => sources.open(interest), {
      kind: 'secret',
      source: secret.source,
      names: [secret.name],
      stats: DiscoveryStats.at(statStore, prefix),
    });
  }

  override async update(update: DiscoveryUpdate): Promise<string | undefined> {
    const { resources, removed } = update;
    const { name } = this.#secret;
    const [found] = resources;
    if (found === undefined && removed.length > 0) {
      const { log } = this.#options;
      log('warning', `secret ${name} was taken away; what came before it stays in use`);
      return undefined;
    }
    if (found === undefined) {
      return this.#refuse(`Missing SDS resources for ${name} in onConfigUpdate()`);
    }
    if (resources.length > 1) {
      const counts = `added resources ${resources.length}, number of removed resources ${removed.length}`;
      const text = `Unexpected SDS secrets length for ${name}, number of ${counts}`;
      return this.#refuse(`${text}. Expected sum is 1`);
    }
    if (found.name !== name) {
      return this.#refuse(`Unexpected SDS secret (expecting ${name}): ${found.name}`);
    }
    return await this.#load(found);
  }

  /** Envoy says by itself what is wrong with an answer as a whole, and returns it. */
  #refuse(reason: string): string {
    const { log } = this.#options;
    log('warning', `sds: secret '${this.#secret.name}' config rejected: ${reason}`);
    return reason;
  }

  protected override ended(): void {
    const { key } = this.#secret;
    this.#watch?.close();
    const { store, statStore } = this.#options;
    statStore.release(this.#rotationFailures);
    const wasThere = store.get('secret', key)?.active !== undefined;
    store.remove('secret', key);
    if (wasThere) void this.#options.apply([WORKERS.remove(key)]);
  }

  #load(given: Given): Promise<string | undefined> {
    this.#loading = this.#loading.then(() => this.#take(given));
    return this.#loading;
  }

  /** What is good is in force when this resolves; else why it is not. */
  async #take(given: Given): Promise<string | undefined> {
    const { store, resolver, clock, turns } = this.#options;
    const { key, kind } = this.#secret;
    let message: JsonObject;
    try {
      message = await readSecretFiles(given.message);
    } catch (error) {
      return (error as Error).message;
    }
    // To load one takes about a millisecond, and an answer may have thousands.
    if (turns.isOver) await turns.next();
    if (this.isClosed) return undefined;
    const present = store.get('secret', key)?.active;
    // To read certificates and keys is dear; what is in force was read.
    if (present !== undefined && isSameMessage(present.message, message)) {
      this.#follow(given);
      return undefined;
    }
    const { resolved, error } = resolver.secret(message, kind);
    if (error !== undefined) return error;
    this.#follow(given);
    const [refusal] = await this.#options.apply([WORKERS.put(key, resolved)]);
    if (refusal !== undefined) return refusal;
    const { versionInfo } = given;
    store.putActive('secret', key, {
      message,
      versionInfo,
      lastUpdatedMs: clock.wallMs(),
      resolved,
    });
    this.#options.changed(key);
    return undefined;
  }

  #follow(given: Given): void {
    const isSame = this.#given !== undefined && isSameMessage(this.#given.message, given.message);
    this.#given = given;
    if (isSame) return;
    this.#watch?.close();
    const { log } = this.#options;
    const warn = (reason: string): void => log('warning', `secret ${this.#secret.name}: ${reason}`);
    this.#watch = new DirectoryWatch(directoriesOf(given.message), () => this.#reread(), warn);
  }

  /** A pair that does not fit together yet is not used; the next move is looked at again. */
  #reread(): void {
    if (this.#isRereadPlanned) return;
    this.#isRereadPlanned = true;
    const reread = this.#loading.then(async () => {
      this.#isRereadPlanned = false;
      return this.#given === undefined || this.isClosed ? undefined : this.#take(this.#given);
    });
    this.#loading = reread;
    void reread.then((refusal) => {
      if (refusal === undefined || this.isClosed) return;
      this.#options.statStore.increment(this.#rotationFailures.base);
      this.#options.log('warning', `cannot rotate secret ${this.#secret.name}: ${refusal}`);
    });
  }
}
