/** Settings of echo: a client hears what it sent. */
export interface EchoFilter {
  readonly kind: 'echo';
}
