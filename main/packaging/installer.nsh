; What electron-builder's installer for Windows does beyond its own template.

; Electron does not start on anything older.
!macro customInit
  ${ifNot} ${AtLeastWin10}
    MessageBox MB_OK|MB_ICONSTOP "Keyhearth needs Windows 10 or later." /SD IDOK
    SetErrorLevel 1
    Quit
  ${endIf}
!macroend

; Removes what the app wrote to the registry of its user while it ran: its link scheme, and the values that start it with the
; session. The uninstaller removes those alone that start the program which it takes away. Electron always quotes its path.
!macro customUnInstall
  ${ifNot} ${isUpdated}
    StrCpy $R0 '"$INSTDIR\${APP_EXECUTABLE_FILENAME}"'
    StrLen $R1 $R0

    ReadRegStr $R2 HKCU "Software\Classes\keyhearth\shell\open\command" ""
    StrCpy $R2 $R2 $R1
    ${if} $R2 == $R0
      DeleteRegKey HKCU "Software\Classes\keyhearth"
    ${endIf}

    StrCpy $R3 0
    ${do}
      EnumRegValue $R4 HKCU "Software\Microsoft\Windows\CurrentVersion\Run" $R3
      ${if} $R4 == ""
        ${exitDo}
      ${endIf}
      ReadRegStr $R2 HKCU "Software\Microsoft\Windows\CurrentVersion\Run" $R4
      StrCpy $R2 $R2 $R1
      ${if} $R2 == $R0
        ; The next value takes its number.
        DeleteRegValue HKCU "Software\Microsoft\Windows\CurrentVersion\Run" $R4
      ${else}
        IntOp $R3 $R3 + 1
      ${endIf}
    ${loop}
  ${endIf}
!macroend
