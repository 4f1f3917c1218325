from dmoj.graders.interactive import InteractiveGrader
