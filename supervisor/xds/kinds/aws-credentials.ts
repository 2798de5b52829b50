/**
 * Credentials for AWS that workers sign with: fetched before the first request, again before they
 * end, and when a file of theirs is replaced. What workers have stays in use until there are others.
 */
import { writeCredentials } from '../../../shared/aws/credentials-text.ts';
import type { CredentialProvider } from '../../../shared/aws/credential-provider.ts';
import type { Timer } from '../../../shared/process/clock.ts';
import { fetchCredentials } from '../../aws/fetch-credentials.ts';
import type { FetchedCredentials as NamedCredentials } from '../../resolved/named-secret.ts';
import { RESOURCE_TYPES } from '../../resolved/resource-kinds.ts';
import type { SecretDiscoveryOptions } from './named-secrets.ts';
import { SharedResource } from './named-resources.ts';
import { DirectoryWatch } from './secret-files.ts';

const { workers: WORKERS } = RESOURCE_TYPES.secret;
const REFRESH_MS = 3_600_000;
/** Before the credentials end. */
const GRACE_MS = 300_000;
const SOONEST_MS = 1000;
const RETRY_FIRST_MS = 2000;
const RETRY_MAX_MS = 30_000;

type CredentialOptions = Pick<SecretDiscoveryOptions, 'clock' | 'apply' | 'log' | 'store'>;

export class AwsCredentials extends SharedResource {
  readonly #named: NamedCredentials;
  readonly #options: CredentialOptions;
  readonly #ended = new AbortController();
  readonly #watch: DirectoryWatch;
  #timer: Timer | undefined = undefined;
  #retryMs = RETRY_FIRST_MS;
  #sent = '';
  #isFetching = false;
  #isMoved = false;

  constructor(named: NamedCredentials, options: CredentialOptions) {
    super();
    this.#named = named;
    this.#options = options;
    const warn = (reason: string): void => options.log('warning', `aws credentials: ${reason}`);
    this.#watch = new DirectoryWatch(directoriesOf(named.providers), () => this.#moved(), warn);
    void this.#fetch();
  }

  override update(): Promise<string | undefined> {
    return Promise.resolve(undefined);
  }

  protected override ended(): void {
    this.#ended.abort();
    this.#timer?.cancel();
    this.#watch.close();
    if (this.#sent === '') return;
    this.#options.store.remove('secret', this.#named.key);
    void this.#options.apply([WORKERS.remove(this.#named.key)]);
  }

  async #fetch(): Promise<void> {
    this.#isFetching = true;
    this.#timer?.cancel();
    const { clock, log } = this.#options;
    const fetched = await fetchCredentials(this.#named.providers, {
      signal: this.#ended.signal,
      wallMs: () => clock.wallMs(),
      failed: ({ kind }, reason) => {
        if (!this.isClosed) log('warning', `aws credentials: provider '${kind}': ${reason}`);
      },
    });
    if (this.isClosed) return;
    if (fetched !== undefined) await this.#send(writeCredentials(fetched.credentials));
    this.#isFetching = false;
    if (this.isClosed) return;
    this.settled();
    this.#planNext(fetched);
  }

  async #send(value: Buffer): Promise<void> {
    const text = value.toString();
    if (text === this.#sent) return;
    this.#sent = text;
    const { store, clock } = this.#options;
    const { key, name } = this.#named;
    const resolved = { kind: 'generic', value } as const;
    store.putActive('secret', key, {
      message: { name },
      versionInfo: '',
      lastUpdatedMs: clock.wallMs(),
      isOwn: true,
      resolved,
    });
    await this.#options.apply([WORKERS.put(key, resolved)]);
  }

  #planNext(fetched: { readonly endsAtMs?: number } | undefined): void {
    if (this.#isMoved) {
      this.#isMoved = false;
      void this.#fetch();
      return;
    }
    const { clock } = this.#options;
    let waitMs: number;
    if (fetched === undefined) {
      waitMs = this.#retryMs;
      this.#retryMs = Math.min(this.#retryMs * 2, RETRY_MAX_MS);
    } else {
      this.#retryMs = RETRY_FIRST_MS;
      const leftMs = (fetched.endsAtMs ?? Infinity) - clock.wallMs() - GRACE_MS;
      waitMs = Math.max(SOONEST_MS, Math.min(REFRESH_MS, leftMs));
    }
    this.#timer = clock.after(waitMs, () => void this.#fetch());
  }

  /** Moves that come while credentials are fetched are looked at afterwards, once. */
  #moved(): void {
    if (this.#isFetching) this.#isMoved = true;
    else if (!this.isClosed) void this.#fetch();
  }
}

function directoriesOf(providers: readonly CredentialProvider[]): readonly string[] {
  const directories = providers.flatMap((provider) =>
    provider.kind === 'file' && 'watchedDirectory' in provider.source
      ? [provider.source.watchedDirectory ?? '']
      : [],
  );
  return directories.filter((directory) => directory !== '');
}
