/** The names of settings, as `keyhearth settings` takes them and their JSON has them. */
export const settingNames = [
  'autoLock.idleMinutes',
  'autoLock.requestsKeepOpen',
  'autoLock.onScreenLock',
  'autoLock.onSuspend',
  'port',
  'network',
  'limits',
  'startAtLogin',
  'updates',
] as const;

export type SettingName = (typeof settingNames)[number];
