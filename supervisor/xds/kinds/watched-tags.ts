/**
 * A file with tags of addresses whose directory is watched: when a move in it makes the file say
 * something else, workers get what it says now. What cannot be read leaves the tags that were there.
 */
import { createHash } from 'node:crypto';
import { SOURCE_BYTES_MAX, readConfiguredFile } from '../../config/configured-file.ts';
import type { Problem } from '../../config/problem.ts';
import type { WatchedTags as NamedTags } from '../../resolved/named-secret.ts';
import { RESOURCE_TYPES } from '../../resolved/resource-kinds.ts';
import { readTagsFile } from '../../resources/filters/common/ip-tags-file.ts';
import { Scope } from '../../resources/scope.ts';
import type { SecretDiscoveryOptions } from './named-secrets.ts';
import { SharedResource } from './named-resources.ts';
import { DirectoryWatch } from './secret-files.ts';

const { workers: WORKERS } = RESOURCE_TYPES.secret;

type TagsOptions = Pick<SecretDiscoveryOptions, 'clock' | 'apply' | 'log' | 'store'>;

export class WatchedTags extends SharedResource {
  readonly #named: NamedTags;
  readonly #options: TagsOptions;
  readonly #watch: DirectoryWatch;
  #isReading = false;
  /** Moves that come while the file is read are looked at afterwards, once. */
  #isMoved = false;
  #wasSent = false;
  #digest: string;

  constructor(named: NamedTags, options: TagsOptions) {
    super();
    this.#named = named;
    this.#options = options;
    this.#digest = named.digest;
    const warn = (reason: string): void => this.#warn(reason);
    this.#watch = new DirectoryWatch([named.directory], () => void this.#moved(), warn);
    this.settled();
  }

  override update(): Promise<string | undefined> {
    return Promise.resolve(undefined);
  }

  protected override ended(): void {
    this.#watch.close();
    if (!this.#wasSent) return;
    this.#options.store.remove('secret', this.#named.key);
    void this.#options.apply([WORKERS.remove(this.#named.key)]);
  }

  async #moved(): Promise<void> {
    this.#isMoved = true;
    if (this.#isReading) return;
    this.#isReading = true;
    while (this.#isMoved && !this.isClosed) {
      this.#isMoved = false;
      await this.#read();
    }
    this.#isReading = false;
  }

  async #read(): Promise<void> {
    const { tags: path } = this.#named;
    let content: Buffer;
    try {
      content = await readConfiguredFile(path, SOURCE_BYTES_MAX);
    } catch (error) {
      // Away for the moment between two versions: Envoy says nothing of that either.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') this.#warn((error as Error).message);
      return;
    }
    const digest = digestOf(content);
    if (this.isClosed || digest === this.#digest) return;
    this.#digest = digest;
    const problems: Problem[] = [];
    const scope = new Scope({
      problems: { report: (problem) => problems.push(problem) },
      maxRegexProgramSize: 0,
    });
    const tags = readTagsFile(path, content, scope);
    const error = problems.find(({ severity }) => severity === 'error');
    if (tags === undefined || error !== undefined) this.#warn(error?.message ?? 'no tags');
    else await this.#send(Buffer.from(JSON.stringify(tags)));
  }

  async #send(value: Buffer): Promise<void> {
    const { store, clock, apply } = this.#options;
    const { key, name } = this.#named;
    const resolved = { kind: 'generic', value } as const;
    store.putActive('secret', key, {
      message: { name },
      versionInfo: '',
      lastUpdatedMs: clock.wallMs(),
      isOwn: true,
      resolved,
    });
    this.#wasSent = true;
    await apply([WORKERS.put(key, resolved)]);
  }

  #warn(reason: string): void {
    const { log } = this.#options;
    log('warning', `ip tags: file '${this.#named.tags}': ${reason}; the tags before it stay`);
  }
}

function digestOf(content: Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}
