/**
 * A conformance case: a bootstrap, an upstream, and questions asked in order. The answers of the
 * reference are recorded in golden/, normalised; Sluice's answers must be the same, except for what
 * intended.json lists.
 */

export interface ConformanceCase {
  readonly name: string;
  readonly title: string;
  /** Listeners by name; their ports are asked from the admin page, so the bootstrap says port 0. */
  bootstrap(upstreamPort: number): object;
  readonly questions: readonly Question[];
}

export type Question =
  | {
      readonly kind: 'http';
      readonly label: string;
      readonly listener: string;
      readonly method?: string;
      readonly path?: string;
      readonly host?: string;
      readonly headers?: Readonly<Record<string, string | string[]>>;
      readonly body?: string;
    }
  /** Bytes as they are; the answer is everything until the connection ends or is idle. */
  | {
      readonly kind: 'raw';
      readonly label: string;
      readonly listener: string;
      readonly send: string;
    }
  | {
      readonly kind: 'admin';
      readonly label: string;
      readonly path: string;
      readonly method?: string;
      /** Lines are sorted where Envoy's order is arbitrary. */
      readonly sorted?: boolean;
      /** Lines that match are left out. */
      readonly ignore?: RegExp;
    };

/** The facts of one question: status, headers in the order of their names, body lines. */
export interface Facts {
  readonly [label: string]: readonly string[];
}
