/**
 * What new connections of one TLS configuration use now: OpenSSL contexts and the checks of peers,
 * made again whenever a secret changes. Open connections keep what they began with.
 */
import type { TlsContext } from '../../shared/resources/tls.ts';
import { completeTls, secretKeysOf } from '../../shared/tls/complete-tls.ts';
import { PeerCheck } from '../../shared/tls/peer-check.ts';
import { SecureContexts, type ServerSessions } from '../../shared/tls/secure-contexts.ts';
import type { SecretStore } from './secret-store.ts';

export interface PresentMaterial {
  readonly contexts: SecureContexts;
  /** Undefined: peers are not judged. */
  readonly check: PeerCheck | undefined;
}

export interface MaterialOptions {
  readonly context: TlsContext;
  /** Absent for clients. */
  readonly sessions?: ServerSessions;
  readonly secrets: SecretStore;
  /** A secret that OpenSSL does not take leaves what was there. */
  readonly log: (line: string) => void;
  /** Connections from now on use something else. */
  readonly changed: () => void;
}

export class TlsMaterial {
  readonly #options: MaterialOptions;
  readonly #unfollow: () => void;
  #present: PresentMaterial | undefined;

  /** Throws when OpenSSL does not take what is configured, unless that waits for secrets. */
  constructor(options: MaterialOptions) {
    this.#options = options;
    const keys = secretKeysOf(options.context);
    this.#present = keys.length > 0 ? this.#tryMake() : this.#make();
    this.#unfollow = options.secrets.follow(keys, () => this.#renew());
  }

  /** Undefined while a secret is missing. */
  get present(): PresentMaterial | undefined {
    return this.#present;
  }

  release(): void {
    this.#unfollow();
  }

  #renew(): void {
    const made = this.#tryMake();
    if (made === undefined) return;
    this.#present = made;
    this.#options.changed();
  }

  #tryMake(): PresentMaterial | undefined {
    try {
      return this.#make();
    } catch (error) {
      this.#options.log(`cannot use a secret: ${(error as Error).message}`);
      return undefined;
    }
  }

  #make(): PresentMaterial | undefined {
    const { context, sessions, secrets } = this.#options;
    const complete = completeTls(context, (key) => secrets.get(key));
    if (complete === undefined) return undefined;
    const { validation, certificates, ticketKeys: keys } = complete;
    const ticketKeys = keys === undefined ? {} : { ticketKeys: Buffer.from(keys, 'base64') };
    const contexts = new SecureContexts({
      tls: context,
      certificates,
      validation,
      ...(sessions === undefined ? {} : { sessions: { ...sessions, ...ticketKeys } }),
    });
    return {
      contexts,
      check: validation && new PeerCheck(validation, sessions === undefined ? 'host' : 'client'),
    };
  }
}
