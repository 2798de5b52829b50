/** Settings and stats of envoy.filters.http.aws_lambda. */
import { defineTemplate } from '../../../../stats/template.ts';
import { counter, histogram } from '../../../../stats/templates/spec.ts';
import { declareKind, type FilterResource } from '../../declare-filter.ts';
import type { AwsSigningOptions } from './request-signing.ts';

export interface AwsLambdaOptions {
  readonly arn: string;
  /** The function gets the body as it is; otherwise JSON that tells of the whole request. */
  readonly passesPayload: boolean;
  readonly isAsynchronous: boolean;
  readonly signing: AwsSigningOptions;
}

/** Prefix: `http.<stat_prefix>.aws_lambda.` */
export const AWS_LAMBDA = defineTemplate('aws_lambda', {
  server_error: counter('Answers of functions that are not the JSON that they should be'),
  upstream_rq_payload_size: histogram('Bytes of what functions were given'),
});

export type AwsLambdaFilterSettings = FilterResource<'aws_lambda', AwsLambdaOptions>;

export const AWS_LAMBDA_DECLARATION = declareKind<AwsLambdaFilterSettings>(AWS_LAMBDA);
