/** What a cluster says of its hosts as Redis servers. Texts are latin-1, one character per byte. */

interface Credentials {
  /** Empty: the password alone is sent. */
  readonly username: string;
  readonly password: string;
}

export interface RedisUpstreamAuth extends Credentials {
  /** Hosts with others, by `address:port`. */
  readonly byAddress?: readonly (Credentials & { readonly address: string })[];
}
