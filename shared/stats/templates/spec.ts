/**
 * Short forms in which the template files of this folder declare their statistics. It owns no
 * template itself.
 */
import type { GaugeImport, StatSpec } from '../template.ts';

type Spec = Omit<StatSpec, 'name'>;

export function counter(help: string): Spec {
  return { kind: 'counter', help };
}

/** A gauge that adds up over hot-restart epochs while the parent lives (connections, requests). */
export function gauge(help: string, rule: GaugeImport = 'accumulate'): Spec {
  return { kind: 'gauge', help, import: rule };
}

/** A gauge that is 1 while it is 1 in any process, else 0. */
export function flag(help: string): Spec {
  return { kind: 'gauge', help, import: 'accumulate', isFlag: true };
}

/** A gauge that describes this process alone: a child epoch never takes its parent's value. */
export function ownGauge(help: string): Spec {
  return gauge(help, 'never_import');
}

export function histogram(help: string, unit: NonNullable<StatSpec['unit']> = 'none'): Spec {
  return { kind: 'histogram', help, unit };
}

export function textReadout(help: string): Spec {
  return { kind: 'text_readout', help };
}
