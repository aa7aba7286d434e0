import type { RegistrationHandlers } from '../../services/index';
import { PLUGIN_TYPE, SUPPORTED_VERSIONS } from './plugin-info';
import type { Registration } from './registration';

/** What the kubelet asks on the registration socket: who are you, and the verdict. */
export function registrationHandlers(registration: () => Registration | undefined): RegistrationHandlers {
  return {
    GetInfo: async ({ settings }, _request, { via }) => {
      registration()?.asked(via);
      return {
        type: PLUGIN_TYPE,
        name: settings.driverName,
        endpoint: registration()?.endpoint ?? '',
        supported_versions: [...SUPPORTED_VERSIONS],
      };
    },

    NotifyRegistrationStatus: async (_env, { plugin_registered, error }, { via }) => {
      registration()?.notified({ registered: plugin_registered, error, socket: via });
      return {};
    },
  };
}
