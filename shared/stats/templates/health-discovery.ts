/** Statistics of the health checks that a control plane asks for. */
import { defineTemplate } from '../template.ts';
import { counter } from './spec.ts';

/** Prefix: `hds_delegate.` */
export const HEALTH_DISCOVERY = defineTemplate('hds_delegate', {
  errors: counter('Streams that ended or could not be opened, and messages that were refused'),
  requests: counter('Messages from the control plane'),
  responses: counter('Reports sent, the first message of each stream too'),
  updates: counter('Messages that changed what is checked'),
});
