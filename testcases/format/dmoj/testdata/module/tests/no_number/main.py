print("twelve")
