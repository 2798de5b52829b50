/** Options that are set on a socket beside those that it needs anyhow. */

export interface SocketOption {
  readonly level: number;
  readonly name: number;
  /** A C int, or bytes in base64. */
  readonly value: number | string;
  /** When it is set: before the address is bound, after that, or once the socket listens. */
  readonly state: 'prebind' | 'bound' | 'listening';
}
