/** Secrets that come from elsewhere, as clusters and listeners name them. Types only. */
import type { CredentialProvider } from '../../shared/aws/credential-provider.ts';
import type { TlsSecret } from '../../shared/resources/tls.ts';
import type { ConfigSource } from './config-source.ts';

/** A secret that something names instead of holding it. */
export type NamedSecret = DiscoveredSecret | FetchedCredentials | WatchedTags;

/** A secret of a control plane or a file. */
export interface DiscoveredSecret {
  /** Unique for a name, its kind and its source; what workers know the secret by. */
  readonly key: string;
  readonly name: string;
  readonly kind: TlsSecret['kind'];
  readonly source: ConfigSource;
}

/** Credentials for AWS, which the first provider gives that has any. */
export interface FetchedCredentials {
  readonly key: string;
  readonly name: string;
  readonly kind: 'generic';
  readonly providers: readonly CredentialProvider[];
}

/** Tags of addresses in a file, read again when something is moved in the directory. */
export interface WatchedTags {
  readonly key: string;
  readonly name: string;
  readonly kind: 'generic';
  /** The file. */
  readonly tags: string;
  readonly directory: string;
  /** SHA-256 of what the file said when the configuration was read. */
  readonly digest: string;
}
