/** Which of Prometheus' formats a client gets, from its request. */

/** Text 0.0.4, OpenMetrics 1.0.0, or length-delimited messages. */
export type Exposition = 'text' | 'openmetrics' | 'protobuf';

export const CONTENT_TYPES: Readonly<Record<Exposition, string | undefined>> = {
  text: undefined,
  openmetrics: 'application/openmetrics-text; version=1.0.0; charset=utf-8',
  protobuf:
    'application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited',
};

/** The parameters that ask for one. */
interface AskedExposition {
  readonly prom_protobuf: boolean;
  readonly openmetrics: boolean;
}

/**
 * As in Envoy the first of text and protobuf that the client lists wins, whatever the weights.
 * OpenMetrics names some metrics differently, which would part dashboards from their data, so it is
 * for clients that ask for nothing else.
 */
export function chooseExposition(asked: AskedExposition, accept: string): Exposition {
  if (asked.prom_protobuf) return 'protobuf';
  if (asked.openmetrics) return 'openmetrics';
  const types = accept.split(',').map((entry) => (entry.split(';')[0] ?? '').trim());
  const first = types.map((type) => known.get(type)).find((found) => found !== undefined);
  if (first !== undefined) return first;
  const wantsOpenMetrics = types.includes('application/openmetrics-text');
  return wantsOpenMetrics && !types.includes('*/*') ? 'openmetrics' : 'text';
}

const known: ReadonlyMap<string, Exposition> = new Map([
  ['text/plain', 'text'],
  ['application/vnd.google.protobuf', 'protobuf'],
]);
