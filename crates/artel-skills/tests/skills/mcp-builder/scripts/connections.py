print("connect")
