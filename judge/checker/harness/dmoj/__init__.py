"""As much of DMOJ's judge as checkers and interactors of problems import."""
