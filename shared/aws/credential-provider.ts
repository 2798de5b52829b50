/**
 * Where AWS credentials come from, resolved: a chain of providers of which the first that has some is
 * taken. What stands in environment variables was read already.
 */
import type { AwsCredentials } from './signature.ts';

/** Bytes that stand here, or a file that is read again. */
export type CredentialSource =
  | { readonly text: string }
  | { readonly path: string; readonly watchedDirectory?: string };

export type CredentialProvider =
  | { readonly kind: 'fixed'; readonly credentials: AwsCredentials }
  | CredentialsFile
  | WebIdentity
  | RolesAnywhere
  | ContainerCredentials
  /** The metadata service of an instance (IMDSv2, else v1). */
  | { readonly kind: 'instance'; readonly endpoint: string }
  | AssumedRole;

export interface CredentialsFile {
  readonly kind: 'file';
  readonly source: CredentialSource;
  readonly profile: string;
  /** The file is `~/.aws/config`, whose sections are named differently. */
  readonly isConfig?: true;
}

export interface WebIdentity {
  readonly kind: 'web_identity';
  readonly token: CredentialSource;
  readonly roleArn: string;
  readonly sessionName: string;
  /** The security token service's. */
  readonly endpoint: string;
}

export interface ContainerCredentials {
  readonly kind: 'container';
  readonly url: string;
  /** The source of the header `authorization`; absent: there is none. */
  readonly token?: CredentialSource;
}

export interface AssumedRole {
  readonly kind: 'assume_role';
  readonly roleArn: string;
  readonly sessionName: string;
  readonly externalId: string;
  readonly durationS?: number;
  readonly endpoint: string;
  readonly region: string;
  /** Who asks. */
  readonly chain: readonly CredentialProvider[];
}

export interface RolesAnywhere {
  readonly kind: 'roles_anywhere';
  readonly roleArn: string;
  readonly profileArn: string;
  readonly trustAnchorArn: string;
  readonly sessionName: string;
  readonly durationS: number;
  readonly certificate: CredentialSource;
  readonly certificateChain?: CredentialSource;
  readonly privateKey: CredentialSource;
  readonly endpoint: string;
  readonly region: string;
}
