/** Statistics of the loads that are told a control plane. */
import { defineTemplate } from '../template.ts';
import { counter } from './spec.ts';

/** Prefix: `load_reporter.` */
export const LOAD_REPORTER = defineTemplate('load_reporter', {
  errors: counter('Streams that ended or could not be opened'),
  requests: counter('Messages from the control plane'),
  responses: counter('Reports sent, the first message of each stream too'),
  retries: counter('Streams opened again'),
});
