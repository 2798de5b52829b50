/** A layer of `layered_runtime`. Types only. */
import type { JsonObject } from '../../shared/api/well-known.ts';
import type { ConfigSource } from './config-source.ts';

export type RuntimeLayer =
  | { readonly kind: 'static'; readonly name: string; readonly values: JsonObject }
  | {
      readonly kind: 'disk';
      readonly name: string;
      /** A symbolic link; replacing it by a rename loads the layer again. */
      readonly symlinkRoot: string;
      /** Below the link; with the service cluster's name behind it where that is asked for. */
      readonly folder: string;
    }
  | { readonly kind: 'admin'; readonly name: string }
  | {
      readonly kind: 'rtds';
      readonly name: string;
      readonly resource: string;
      readonly source: ConfigSource;
    };
