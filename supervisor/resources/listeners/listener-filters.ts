/** The registry of listener filters, which see a connection before its filter chain is chosen. */
import { ExtensionRegistry } from '../extensions.ts';

export const LISTENER_FILTERS = new ExtensionRegistry<never>('listener filter', []);
