import { KeyhearthError } from '../../lib/errors.ts';
import type { PolicyEvaluation } from '../../policy/decide/decide.ts';

/** The refusal of a caller whom the vault does not let do something. @param reason For its details. */
export const noPermission = (
  reason: string,
  policyEvaluations: readonly PolicyEvaluation[] = [],
): KeyhearthError =>
  new KeyhearthError(
    'PERMISSION_DENIED',
    "You don't have sufficient permissions to take this action. Please check your policies, or ask a member of the root quorum.",
    {
      turnkeyErrorCode: 'REQUEST_NOT_AUTHORIZED',
      details: [
        {
          '@type': 'type.googleapis.com/errors.v1.PolicyEnginePermissionError',
          message: reason,
          policyEvaluations,
        },
      ],
    },
  );
