@echo off
rem The command of this checkout, run by the Node that `npm install` brought.
if not exist "%~dp0dist\main\cli.js" (
  echo keyhearth: this checkout is not set up yet: run npm install in %~dp0 1>&2
  exit /b 1
)
set "KEYHEARTH_LAUNCHED_AS=%~0"
"%~dp0node_modules\.bin\node.cmd" "%~dp0dist\main\cli.js" %*
