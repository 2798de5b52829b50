/** What a cluster says of its hosts as Redis servers. Texts are latin-1, one character per byte. */
import type { GenericSecret } from '../generic-secret.ts';

interface Credentials {
  /** Empty: the password alone is sent. */
  readonly username: string;
  readonly password: string;
}

/** Passwords that AWS accepts for a while: signed in the name of this server. */
export interface RedisIam {
  readonly credentials: GenericSecret;
  readonly region: string;
  readonly service: string;
  readonly cacheName: string;
  readonly expiresS: number;
}

export interface RedisUpstreamAuth extends Credentials {
  /** In place of the password; absent: the password is as configured. */
  readonly iam?: RedisIam;
  /** Hosts with others, by `address:port`. */
  readonly byAddress?: readonly (Credentials & { readonly address: string })[];
}
