import fc from 'fast-check';
import { methods, rpcs } from '../../../../src/csi/rpcs';
import { MARKER, messageOf } from '../../csi/arbitrary';
import { verdict } from './support';

test.each(methods)('%s: any request gets OK or a refusal that tells no secret', (method) => {
  fc.assert(
    fc.property(messageOf(rpcs[method].requestType), (fields) => {
      const said = verdict(method, fields);
      expect(said).toMatch(/^(OK$|(INVALID_ARGUMENT|OUT_OF_RANGE) [a-z_]+.*: expected .+; found .+)/);
      expect(said).not.toContain(MARKER);
      expect(said).not.toContain('\n');
    }),
  );
});
