import qualified Data.Map.Strict as M

main :: IO ()
main = go 0 M.empty
  where
    go :: Int -> M.Map Int Int -> IO ()
    go n m
      | M.size m < 0 = print n
      | otherwise = go (n + 1) (M.insert n n m)
